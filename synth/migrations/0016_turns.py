from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('synth', '0015_batch'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='rendering',
            index=models.Index(condition=models.Q(('state__in', ('queued', 'running'))), fields=['priority', 'tenant', 'created_at'], name='rendering_turn'),
        ),
        migrations.AddIndex(
            model_name='synthesis',
            index=models.Index(condition=models.Q(('state', 'running')), fields=['tenant'], name='synthesis_running'),
        ),
    ]
