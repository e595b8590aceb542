from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('synth', '0014_time_stretch'),
    ]

    operations = [
        migrations.CreateModel(
            name='Batch',
            fields=[
            ],
            options={
                'verbose_name': 'batch',
                'verbose_name_plural': 'batches',
                'proxy': True,
                'indexes': [],
                'constraints': [],
            },
            bases=('synth.curationaction',),
        ),
    ]
